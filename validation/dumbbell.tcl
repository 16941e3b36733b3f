# The dumbbell of tools/bench/src/networks.rs for ns-2 2.35, to compare speed in one run:
#   ns validation/dumbbell.tcl CONNECTIONS MBIT/S SECONDS
# One bottleneck of 40 ms with a queue of one bandwidth-delay product, access links of 1 Gbit/s and 5 ms,
# long SACK connections that start within 5 s, packets of 1000 bytes, no tracing. Hops are transmissions of a packet on
# a link: one for each packet that was sent, five more for each that was acknowledged.
set n [lindex $argv 0]; set mbps [lindex $argv 1]; set secs [lindex $argv 2]
Agent/TCP set window_ 10000
Agent/TCP set packetSize_ 960
set ns [new Simulator]
$ns rtproto Static
set left [$ns node]; set right [$ns node]
$ns duplex-link $left $right ${mbps}Mb 40ms DropTail
set q [expr int($mbps*1e6/8*0.1/1000)]
$ns queue-limit $left $right $q
$ns queue-limit $right $left $q
set rng [new RNG]
for {set i 0} {$i<$n} {incr i} {
 set s [$ns node]; set d [$ns node]
 $ns duplex-link $s $left 1000Mb 5ms DropTail; $ns duplex-link $right $d 1000Mb 5ms DropTail
 $ns queue-limit $s $left 100000; $ns queue-limit $right $d 100000; $ns queue-limit $d $right 100000; $ns queue-limit $left $s 100000
 set t [new Agent/TCP/Sack1]; set k [new Agent/TCPSink/Sack1]
 $ns attach-agent $s $t; $ns attach-agent $d $k; $ns connect $t $k
 set f [new Application/FTP]; $f attach-agent $t
 $ns at [$rng uniform 0 5] "$f start"
 lappend ts $t
}
proc done {} { global ts n; set a 0; set p 0; foreach t $ts { incr a [$t set ack_]; incr p [$t set ndatapack_] }; puts "acked $a sent $p hops ~ [expr $p+5*$a]"; exit 0 }
$ns at $secs done
$ns run

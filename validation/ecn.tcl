# Four connections over a RED queue that marks, for ns-2 2.35:
#   ns validation/ecn.tcl VARIANT ECN SEED
# VARIANT is tahoe, reno, newreno, sack1 or vegas, ECN 1 or 0. Bottleneck 8 Mbit/s and 20 ms, access 100 Mbit/s and
# 10 ms, RED with thresholds 5 and 15 packets, weight 0.002, limit 100, not gentle. Starts uniform in 5 s. Prints from
# 20 s to 120 s: packets acknowledged per second, cuts for marks, marks and drops at the queue.
set variant [lindex $argv 0]; set ecn [lindex $argv 1]; ns-random [lindex $argv 2]
Agent/TCP set window_ 5000
Agent/TCP set packetSize_ 960
Agent/TCP set ecn_ $ecn
Agent/TCP/Vegas set packetSize_ 1000
foreach {name value} {thresh_ 5 maxthresh_ 15 q_weight_ 0.002 gentle_ false bytes_ false queue_in_bytes_ false
 mean_pktsize_ 1000 setbit_ true linterm_ 10} { Queue/RED set $name $value }
set ns [new Simulator]
set left [$ns node]; set right [$ns node]
$ns simplex-link $left $right 8Mb 20ms RED; $ns simplex-link $right $left 8Mb 20ms DropTail
$ns queue-limit $left $right 100; $ns queue-limit $right $left 100000
array set class {tahoe TCP reno TCP/Reno newreno TCP/Newreno sack1 TCP/Sack1 vegas TCP/Vegas}
for {set i 0} {$i < 4} {incr i} {
 set s [$ns node]; set d [$ns node]
 $ns duplex-link $s $left 100Mb 10ms DropTail; $ns duplex-link $right $d 100Mb 10ms DropTail
 foreach {a b} [list $s $left $left $s $right $d $d $right] { $ns queue-limit $a $b 100000 }
 set t [new Agent/$class($variant)]
 set k [new Agent/TCPSink[expr {$variant == "sack1" ? "/Sack1" : ""}]]
 $ns attach-agent $s $t; $ns attach-agent $d $k; $ns connect $t $k
 set f [new Application/FTP]; $f attach-agent $t
 $ns at [expr 5.0 * [ns-random] / 2147483647.0] "$f start"
 lappend ts $t
}
set monitor [$ns monitor-queue $left $right [open /dev/null w]]
proc acked {} { global ts; set sum 0; foreach t $ts { incr sum [$t set ack_] }; return $sum }
proc counts {} { global ts monitor; set cuts 0; foreach t $ts { incr cuts [$t set necnresponses_] }; return "[acked] $cuts [$monitor set pmarks_] [$monitor set pdrops_]" }
proc snap {} { global before; set before [counts] }
proc tell {} { global before; foreach a [counts] b $before { lappend told [expr $a - $b] }
 puts "[expr [lindex $told 0] / 100.0] [lrange $told 1 end]"; exit 0 }
$ns at 20 snap
$ns at 120 tell
$ns run

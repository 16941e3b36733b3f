# One connection over a path that loses packets at random, for ns-2 2.35:
#   ns validation/shares.tcl VARIANT LOSS SEED
# VARIANT is tahoe, reno, newreno, sack1 or vegas. 100 Mbit/s, 50 ms each way, packets of 1000 bytes, window 5000.
# Prints the packets acknowledged from 20 s to 220 s for each 100 ms.
set variant [lindex $argv 0]; set loss [lindex $argv 1]; ns-random [lindex $argv 2]
Agent/TCP set window_ 5000
Agent/TCP set packetSize_ 960
Agent/TCP/Vegas set packetSize_ 1000
set ns [new Simulator]
set s [$ns node]; set r [$ns node]
$ns duplex-link $s $r 100Mb 50ms DropTail
$ns queue-limit $s $r 100000; $ns queue-limit $r $s 100000
set e [new ErrorModel]; $e set rate_ $loss; $e unit pkt; $e ranvar [new RandomVariable/Uniform]
$e drop-target [new Agent/Null]; $ns lossmodel $e $s $r
array set class {tahoe TCP reno TCP/Reno newreno TCP/Newreno sack1 TCP/Sack1 vegas TCP/Vegas}
set t [new Agent/$class($variant)]
set k [new Agent/TCPSink[expr {$variant == "sack1" ? "/Sack1" : ""}]]
$ns attach-agent $s $t; $ns attach-agent $r $k; $ns connect $t $k
set f [new Application/FTP]; $f attach-agent $t
$ns at 0 "$f start"
proc snap {} { global t before; set before [$t set ack_] }
proc tell {} { global t before; puts "[expr ([$t set ack_] - $before) / 2000.0]"; exit 0 }
$ns at 20 snap
$ns at 220 tell
$ns run

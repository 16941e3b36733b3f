# One connection whose lost packets are given, for ns-2 2.35:
#   ns validation/losses.tcl VARIANT LOSS [SECONDS [STEP]]
# VARIANT is tahoe, reno, newreno, sack1 or vegas. Packet n (as it comes to the link, not the first) is lost
# where the n-th number of the generator x := 16807 x mod (2^31 - 1), from 1, is below LOSS (2^31 - 1).
# Prints time, acknowledged, congestion window, threshold, sent, resent and timeouts, in the end or at each STEP.
set v [lindex $argv 0]; set p [lindex $argv 1]; set end [lindex $argv 2]; set step [lindex $argv 3]
if {$end == ""} { set end 220.015 }
Agent/TCP set window_ 200000
Agent/TCP set packetSize_ 960
Agent/TCP/Vegas set packetSize_ 1000
set ns [new Simulator]
set s [$ns node]; set r [$ns node]
$ns duplex-link $s $r 100Mb 50ms DropTail
$ns queue-limit $s $r 100000; $ns queue-limit $r $s 100000
set x 1; set lost {}
for {set n 0} {$n < 200000} {incr n} {
 set x [expr wide($x) * 16807 % 2147483647]
 if {$n > 0 && $x < $p * 2147483647} { lappend lost $n }
}
set e [new ErrorModel/List]; $e droplist $lost; $e unit pkt; $e drop-target [new Agent/Null]; $ns lossmodel $e $s $r
array set class {tahoe TCP reno TCP/Reno newreno TCP/Newreno sack1 TCP/Sack1 vegas TCP/Vegas}
set t [new Agent/$class($v)]
set k [new Agent/TCPSink[expr {$v == "sack1" ? "/Sack1" : ""}]]
$ns attach-agent $s $t; $ns attach-agent $r $k; $ns connect $t $k
set f [new Application/FTP]; $f attach-agent $t
$ns at 0 "$f start"
proc tell {} { global ns t; puts [format "%.3f %d %.4f %d %d %d %d" [$ns now] [$t set ack_] [$t set cwnd_] [$t set ssthresh_] [$t set ndatapack_] [$t set nrexmitpack_] [$t set nrexmit_]] }
if {$step != ""} { for {set at 0.015} {$at < $end} {set at [expr $at + $step]} { $ns at $at tell } }
$ns at $end "tell; exit 0"
$ns run

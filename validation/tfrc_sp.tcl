# One TFRC flow of small packets over a path of 240 ms that loses packets at random, for ns-2 2.35, as in RFC 4828,
# appendix B.1, table 9:
#   ns validation/tfrc_sp.tcl LOSS SHORT REPLICATION
# Packets have 200 bytes of data and 32 of headers. SHORT is 1 for TFRC-SP, 0 for plain TFRC. Prints what is sent from
# 50 s to 1550 s in kbit/s.
source [file join [file dirname [info script]] agents.tcl]
foreach {loss short replication} $argv break
choose_replication $replication
set ns [new Simulator]
set s [$ns node]; set r [$ns node]
$ns duplex-link $s $r 100Mb 120ms DropTail
$ns queue-limit $s $r 100000; $ns queue-limit $r $s 100000
set e [new ErrorModel]
$e set rate_ $loss
$e unit pkt
$e ranvar [new RandomVariable/Uniform]
$e drop-target [new Agent/Null]
$ns lossmodel $e $s $r
set t [new Agent/TFRC]
set k [new Agent/TFRCSink]
$t set packetSize_ 200
$t set voip_ $short
$k set ShortIntervals_ $short
$ns attach-agent $s $t; $ns attach-agent $r $k; $ns connect $t $k
proc snap {} { global t before; set before [$t set ndatapack_] }
proc tell {} { global t before; puts [expr ([$t set ndatapack_] - $before) * 232 * 8 / 1500e3]; exit 0 }
$ns at 1 "$t start"
$ns at 50 snap
$ns at 1550 tell
$ns run

# One TFRC flow over a path of 100 ms that loses packets at random, for ns-2 2.35:
#   ns validation/tfrc.tcl LOSS SEED
# Prints the mean rate of what arrives from 30 s to 1530 s in kbit/s, 1000 bytes for each packet.
set loss [lindex $argv 0]
ns-random [lindex $argv 1]
set ns [new Simulator]
foreach n {s g1 g2 r} { set $n [$ns node] }
foreach {a b delay} {s g1 5ms g1 g2 40ms g2 r 5ms} {
    $ns duplex-link [set $a] [set $b] 1000Mb $delay DropTail
    $ns queue-limit [set $a] [set $b] 100000
    $ns queue-limit [set $b] [set $a] 100000
}
set e [new ErrorModel]
$e set rate_ $loss
$e unit pkt
$e ranvar [new RandomVariable/Uniform]
$e drop-target [new Agent/Null]
$ns lossmodel $e $g1 $g2
set t [new Agent/TFRC]
set k [new Agent/TFRCSink]
$t set packetSize_ 1000
$ns attach-agent $s $t
$ns attach-agent $r $k
$ns connect $t $k
$ns at 1 "$t start"
proc snap {} { global t before; set before [$t set ndatapack_] }
proc done {} {
    global t before loss
    puts [expr ([$t set ndatapack_] - $before) * (1 - $loss) * 8.0 / 1500.0]
    exit 0
}
$ns at 30 snap
$ns at 1530 done
$ns run

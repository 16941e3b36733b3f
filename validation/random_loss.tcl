# One connection over a path that loses data at random, for ns-2 2.35:
#   ns validation/random_loss.tcl TCP LOSS WINDOW FROM UNTIL REPLICATION
# 100 Mbit/s, 50 ms each way, nothing else is lost. Prints the packets acknowledged from FROM to UNTIL, in seconds.
source [file join [file dirname [info script]] agents.tcl]
foreach {name loss window from until replication} $argv break
Agent/TCP set window_ $window
choose_replication $replication
set ns [new Simulator]
set a [$ns node]; set b [$ns node]
$ns duplex-link $a $b 100Mb 50ms DropTail
$ns queue-limit $a $b 1000000
$ns queue-limit $b $a 1000000
set errors [new ErrorModel]
$errors unit pkt
$errors set rate_ $loss
$errors ranvar [new RandomVariable/Uniform]
$errors drop-target [new Agent/Null]
$ns lossmodel $errors $a $b
foreach {tcp source} [connect_tcp $ns $name $a $b 0 1000] break
$ns at 0 "$source start"
$ns at $from {set before [$tcp set ack_]}
$ns at $until {puts "packets [expr {[$tcp set ack_] - $before}]"; exit 0}
$ns run

# One SACK connection over the path of the thesis's simulation 2 for ns-2 2.35:
#   ns validation/bernoulli.tcl LOSS1 LOSS2 SEED LIMITED_TRANSMIT START PAYLOAD
# Prints the mean rate from 30 s to 300 s in kbit/s, 1000 bytes counted for each packet.
set p1 [lindex $argv 0]; set p2 [lindex $argv 1]; set seed [lindex $argv 2]; set single [lindex $argv 3]; set start [lindex $argv 4]; set psize [lindex $argv 5]
Agent/TCP set minrto_ 1.0
Agent/TCP set rtxcur_init_ 6.0
Agent/TCP set singledup_ $single
Agent/TCP set window_ 10000
Agent/TCP set packetSize_ $psize
ns-random $seed
set ns [new Simulator]
foreach n {s g1 g2 r} { set $n [$ns node] }
foreach {a b} {s g1 g1 g2 g2 r} { $ns duplex-link [set $a] [set $b] 100Mb 10ms DropTail; $ns queue-limit [set $a] [set $b] 100000 }
proc lossy {a b p} { global ns; if {$p>0} { set e [new ErrorModel]; $e set rate_ $p; $e unit pkt; $e ranvar [new RandomVariable/Uniform]; $e drop-target [new Agent/Null]; $ns lossmodel $e $a $b } }
lossy $g1 $g2 $p1
lossy $g2 $r $p2
set t [new Agent/TCP/Sack1]; set k [new Agent/TCPSink/Sack1]
$ns attach-agent $s $t; $ns attach-agent $r $k; $ns connect $t $k
set f [new Application/FTP]; $f attach-agent $t
$ns at $start "$f start"
proc snap {} { global t a30; set a30 [$t set ack_] }
proc done {} { global t a30; puts "[expr ([$t set ack_]-$a30)*8.0/270.0]"; exit 0 }
$ns at 30 snap
$ns at 300 done
$ns run

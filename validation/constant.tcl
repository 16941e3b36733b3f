# Constant flows against TCP on the tree of the thesis's simulation 3, for ns-2 2.35:
#   ns validation/constant.tcl WAIT PHASE LONGER FROM UNTIL REPLICATION {LAYERS START START START START}...
# S-G1-G2, G2-R1 (3 Mbit/s), G2-R2 (6 Mbit/s), G1-G3, G3-R3 (12 Mbit/s), 10 ms each, other links 100 Mbit/s; the three queues hold
# twice the bandwidth-delay product of 60 ms, in bytes. To each receiver go a constant rate for each layer and four Sack1
# connections, packets of 1000 bytes, all unicast: a layer is always joined. WAIT is what senders wait at random at most, and PHASE
# by how much longer the last delay towards the receiver is, both in packet times of that receiver's link; LONGER, in seconds, is
# added to that. For each receiver follow LAYERS, as KBPS@START,KBPS@START...: the rate of each layer and when it begins in seconds,
# and when each of the four connections begins. Prints for each receiver what came from FROM to UNTIL: packets of all layers that
# came to the queue and were dropped, the same of the connections, packets acknowledged to them.
source [file join [file dirname [info script]] agents.tcl]
foreach {wait phase longer from until replication} $argv break
set starts [lrange $argv 6 end]
# ns-2 before 18 October 2004, without limited transmit.
Agent/TCP set window_ 10000
Agent/TCP set minrto_ 1
Agent/TCP set rtxcur_init_ 6
Agent/TCP set singledup_ 0
Queue/DropTail set mean_pktsize_ 1000
Queue/DropTail set queue_in_bytes_ true
choose_replication $replication
set ns [new Simulator]
$ns rtproto Static
foreach node {S G1 G2 G3 R1 R2 R3} { set $node [$ns node] }
proc link {a b forward delay room} {
 global ns
 $ns simplex-link $a $b $forward $delay DropTail
 $ns simplex-link $b $a $forward 10ms DropTail
 $ns queue-limit $a $b $room
 $ns queue-limit $b $a 1000000
}
foreach {a b} [list $S $G1 $G1 $G2 $G1 $G3] { link $a $b 100Mb 10ms 1000000 }
set connections {}
set monitors {}
foreach {router receiver mbps} [list $G2 $R1 3 $G2 $R2 6 $G3 $R3 12] {
 set packet [expr {8e-3 / $mbps}]
 link $router $receiver ${mbps}Mb [expr {0.01 + $longer + $phase * $packet}] [expr {15 * $mbps}]
 set monitor [$ns makeflowmon Fid]
 $ns attach-fmon [$ns link $router $receiver] $monitor
 lappend monitors $monitor
 foreach layer [split [lindex $starts 0] ,] {
  foreach {kbps start} [split $layer @] break
  set udp [new Agent/UDP]
  $udp set packetSize_ 1000
  $udp set fid_ 1
  set constant [new Application/Traffic/CBR]
  $constant set packetSize_ 1000
  $constant set rate_ ${kbps}kb
  $constant set random_ 0
  $constant attach-agent $udp
  $ns attach-agent $S $udp
  set null [new Agent/Null]
  $ns attach-agent $receiver $null
  $ns connect $udp $null
  $ns at $start "$constant start"
 }
 set tcps {}
 foreach start [lrange $starts 1 4] {
  foreach {tcp application} [connect_tcp $ns sack $S $receiver 0 1000] break
  $tcp set fid_ 2
  $tcp set overhead_ [expr {$wait * $packet}]
  $ns at $start "$application start"
  lappend tcps $tcp
 }
 lappend connections $tcps
 set starts [lrange $starts 5 end]
}
proc counts {} {
 global monitors connections
 set rows {}
 foreach monitor $monitors tcps $connections {
  set row {0 0 0 0 0}
  foreach flow [$monitor flows] {
   set at [expr {[$flow set flowid_] == 1 ? 0 : 2}]
   lset row $at [expr {[lindex $row $at] + [$flow set parrivals_]}]
   lset row [expr {$at + 1}] [expr {[lindex $row [expr {$at + 1}]] + [$flow set pdrops_]}]
  }
  foreach tcp $tcps { lset row 4 [expr {[lindex $row 4] + [$tcp set ack_]}] }
  lappend rows $row
 }
 return $rows
}
proc tell {} {
 global before
 foreach early $before late [counts] {
  set row {}
  foreach one $early other $late { lappend row [expr {$other - $one}] }
  puts $row
 }
 exit 0
}
$ns at $from {set before [counts]}
$ns at $until tell
$ns run

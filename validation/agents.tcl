# What the scripts beside this one share: the TCPs by the names that layercast gives them, with packets of so many
# bytes on the wire. Vegas of ns-2 counts no header.
proc connect_tcp {ns name from to delayed bytes} {
 set variants { tahoe Agent/TCP reno Agent/TCP/Reno newreno Agent/TCP/Newreno sack Agent/TCP/Sack1 vegas Agent/TCP/Vegas }
 array set agents $variants
 set tcp [new $agents($name)]
 $tcp set packetSize_ [expr {$name eq "vegas" ? $bytes : $bytes - 40}]
 set sink "Agent/TCPSink"
 if {$name eq "sack"} { append sink "/Sack1" }
 if {$delayed} { append sink "/DelAck" }
 set sink [new $sink]
 $ns attach-agent $from $tcp
 $ns attach-agent $to $sink
 $ns connect $tcp $sink
 set source [new Application/FTP]
 $source attach-agent $tcp
 return [list $tcp $source]
}
# Moves the generator that error models, RED and REM draw from to the numbers of one replication: a substream each.
# Seeds one apart would not do: ns-2 puts the seed into every word of its linear generator's state, so that the
# numbers of seed 2 are those of seed 1 doubled.
proc choose_replication {replication} {
 global defaultRNG
 for {set i 0} {$i < $replication} {incr i} { $defaultRNG next-substream }
}

# The dumbbell of crates/netsim/examples/dumbbell.rs for ns-2:
# ns dumbbell.tcl FLOWS MBIT SECONDS PAIRS
lassign $argv flows mbit seconds pairs
remove-all-packet-headers
add-packet-header IP TCP Flags
set ns [new Simulator]
$ns use-scheduler Calendar

# 1 ms - 8 ms - 1 ms, a queue of one product of rate and 20 ms, in packets of 1000 bytes.
set queue [expr {int($mbit * 1e6 * 0.020 / 8000)}]
Queue set limit_ 100000
set left [$ns node]
set right [$ns node]
$ns duplex-link $left $right ${mbit}Mb 8ms DropTail
$ns queue-limit $left $right $queue
for {set i 0} {$i < $pairs} {incr i} {
    set source($i) [$ns node]
    set sink($i) [$ns node]
    $ns duplex-link $source($i) $left 1000Mb 1ms DropTail
    $ns duplex-link $right $sink($i) 1000Mb 1ms DropTail
}

set starts [new RNG]
$starts seed 1
for {set i 0} {$i < $flows} {incr i} {
    set pair [expr {$i % $pairs}]
    set sender [new Agent/TCP/Sack1]
    $sender set packetSize_ 960
    $sender set window_ [expr {max(64, 4 * $queue)}]
    set receiver [new Agent/TCPSink/Sack1]
    $ns attach-agent $source($pair) $sender
    $ns attach-agent $sink($pair) $receiver
    $ns connect $sender $receiver
    set ftp [new Application/FTP]
    $ftp attach-agent $sender
    $ns at [$starts uniform 0 1.0] "$ftp start"
}
$ns at $seconds "exit 0"
$ns run

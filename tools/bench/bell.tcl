# The reference dumbbell of crates/netsim/examples/dumbbell_path for ns-2: 1 ms - 8 ms - 1 ms, a queue
# of one product of rate and 20 ms, in packets of 1000 bytes.
set ns [new Simulator]
$ns use-scheduler Calendar

proc pipe mbit { expr {int($mbit * 1e6 * 0.020 / 8000)} }

proc bell {mbit pairs} {
    global ns source sink counted
    Queue set limit_ 100000
    set left [$ns node]
    set right [$ns node]
    $ns duplex-link $left $right ${mbit}Mb 8ms DropTail
    $ns queue-limit $left $right [pipe $mbit]
    $ns queue-limit $right $left [pipe $mbit]
    for {set i 0} {$i < $pairs} {incr i} {
        set source($i) [$ns node]
        set sink($i) [$ns node]
        $ns duplex-link $source($i) $left 1000Mb 1ms DropTail
        $ns duplex-link $right $sink($i) 1000Mb 1ms DropTail
    }
    set counted [$ns monitor-queue $left $right ""]
}

# Runs, then says what the bottleneck has done, as Run::finish of the examples.
proc run {mbit seconds {also {}}} {
    global ns
    $ns at $seconds "report $mbit $seconds {$also}"
    $ns run
}

proc report {mbit seconds also} {
    global counted
    set sent [$counted set pdepartures_]
    set share [expr {[$counted set bdepartures_] * 8e-6 / $mbit / max($seconds, 1)}]
    puts "packets [expr {int($sent)}] dropped [expr {int([$counted set pdrops_])}] utilisation [format %.3f $share]"
    eval $also
    exit 0
}

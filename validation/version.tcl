# Which ns this is.
puts [ns-version]
exit 0

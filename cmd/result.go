package cmd

// report writes the result file, last.
func (r *run) report(end *exit) {}

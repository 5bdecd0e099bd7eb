package process

// Suspend does nothing on Windows, which has no job control.
func Suspend() {}

#include "textflag.h"

// The kernel calls handler with the number of the signal in R0, on the signal
// stack of the thread, and restores all registers when it returns.
TEXT ·handler(SB), NOSPLIT|NOFRAME, $0
	SUB $16, RSP
	MOVD R0, R3
	MOVD $178, R8 // gettid
	SVC
	MOVW ·process(SB), R1
	CMPW R0, R1
	BNE write
	ORR $0x80, R3 // byMain
write:
	MOVD R3, 0(RSP) // its lowest byte is what is written
	MOVW ·out(SB), R0
	MOVD RSP, R1
	MOVD $1, R2
	MOVD $64, R8 // write
	SVC
	ADD $16, RSP
	RET

// func entries() (handler, restorer uintptr)
TEXT ·entries(SB), NOSPLIT, $0-16
	MOVD $·handler(SB), R0
	MOVD R0, handler+0(FP)
	MOVD ZR, restorer+8(FP) // the kernel's own
	RET

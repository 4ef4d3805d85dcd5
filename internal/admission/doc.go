// Package admission decides which requests a node works on now, which wait, and which an overloaded node refuses.
//
// It owns the order of requests inside one process. It does not know HTTP or databases: a [Queue] only sees the class and the
// account of a piece of work. Transactions have an order of their own (see package store).
//
// # Protocol
//
// [Queue.Enter] returns when the work may begin, and the returned function ends it. Each class has a number of places, and one
// account uses only a part of them. If none is free, the work waits, and accounts take turns for the next one.
//
// The number of waiting pieces is bounded. When the bound is reached, one piece is refused: in the last class with waiting
// work, the newest piece of the account with the most waiting pieces. So an overloaded node refuses observations first, then
// lists, then writes, and last reads, and an account that floods the node is refused before others. A piece that has waited as
// long as its class allows is refused too. Refused work has not begun.
package admission

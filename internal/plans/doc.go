// Package plans knows how much of what each plan allows.
//
// A Table maps plan names to limits; it is built in, or read from a file. An
// account holds one plan per product. An Entitlement is one limit as it
// applies to one account; deciding whether a slot is free is done with it,
// inside the transaction that takes the slot.
package plans

// Package live measures the cost of reading a flag and of logging in a running service. It compares them with the bare rule
// and the bare handler, and with other SDKs that have the same rule. It also measures a thousand readers while the snapshot is
// replaced.
//
// GO Feature Flag is missing, because its module could not be downloaded.
package live

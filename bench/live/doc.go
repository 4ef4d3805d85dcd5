// Package live measures what reading a flag and logging cost a running service: beside the bare rule and the bare handler,
// beside the SDKs of others with the same rule, and while the snapshot is replaced under a thousand readers.
//
// GO Feature Flag is not among them: its module could not be had where this was written.
package live

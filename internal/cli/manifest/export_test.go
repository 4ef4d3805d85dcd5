package manifest

// Definition is the table that the tests compare with the description of the interface.
var Definition = definition

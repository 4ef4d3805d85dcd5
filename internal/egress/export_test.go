package egress

// KeptTLSSettings tells how many TLS configurations a client keeps.
func KeptTLSSettings(c *Client) int { return len(c.tls.kept) }

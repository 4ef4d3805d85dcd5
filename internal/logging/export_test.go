package logging

// Waiting counts the reports of an account that wait for another.
func (s *Service) Waiting(account string) int {
	s.reports.mu.Lock()
	defer s.reports.mu.Unlock()
	return len(s.reports.waiting[account])
}

// Writing tells whether a report of an account is being written.
func (s *Service) Writing(account string) bool {
	s.reports.mu.Lock()
	defer s.reports.mu.Unlock()
	_, writing := s.reports.waiting[account]
	return writing
}

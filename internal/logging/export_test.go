package logging

import "github.com/signalbox/signalbox/internal/accounts"

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

// Crowd makes a report about so many sources wait, until it is told to leave.
func (s *Service) Crowd(account string, sources int) (leave func()) {
	waits := &filing{caller: accounts.Caller{Account: account}, news: make([]int, sources), turn: make(chan bool, 1)}
	s.reports.mu.Lock()
	defer s.reports.mu.Unlock()
	s.reports.waiting[account] = append(s.reports.waiting[account], waits)
	return func() { s.reports.leave(waits) }
}

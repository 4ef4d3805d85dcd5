-- Nodes of 0.1.0 know no attempts, so they insert runs into the view without one. A view has no defaults of its own: their runs were
-- refused because the queue needs the attempt.
ALTER VIEW runs ALTER COLUMN attempt SET DEFAULT 1;

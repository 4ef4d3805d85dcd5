-- reverts is the number of the change that a change undid.
ALTER TABLE changes ADD COLUMN reverts INTEGER;

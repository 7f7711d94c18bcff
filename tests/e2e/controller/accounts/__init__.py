"""What the accounts of the controller, of authors and of tenants may do, and no more."""

"""Any web application, by a declared scenario: what its users ask for, and what must come back."""

//! Link traces: reading, writing, generating.

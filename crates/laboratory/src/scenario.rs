//! Scenario files: reading, checking, and what they describe.

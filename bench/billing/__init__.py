"""What AWS bills for the requests of the AWS backend: counted, and priced."""

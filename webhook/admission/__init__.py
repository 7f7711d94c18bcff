"""Admission: an AdmissionReview in, an AdmissionReview out. Pure, like the core below it."""

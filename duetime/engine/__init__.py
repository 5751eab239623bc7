"""Operations that several roles share: submit, enqueue, materialise, follow-ups, removal."""

"""Operations that several roles share: enqueue, materialise, follow-ups, superseded fire times."""

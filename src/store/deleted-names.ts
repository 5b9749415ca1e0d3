/** As many names of deleted keys as every store keeps; the oldest go first. */
export const maxDeletedNames = 10_000;

/** Things that retention keeps, as people call them: each turn of a thread is a request. */
export const keptWord = (kind: string): string => (kind === "turns" ? "requests" : kind);

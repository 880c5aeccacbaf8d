/** The id of an agent's response, which is the id of its turn with a prefix (spec: Agent response object). */
export const responseId = (turn_id: string): string => `resp_${turn_id}`;

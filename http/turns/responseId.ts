/** The id of an agent's response: `resp_` and the id of its turn (spec: Agent response object). */
export const responseId = (turn_id: string): string => `resp_${turn_id}`;

type Value = string | number | boolean;
export type Assignee = { person: string } | { group: string } | { role: string };
/** When calls of a tool wait for a person's approval. */
export interface ToolApproval {
  assignees: Assignee[];
  self_approval: boolean;
  allow_api_key: boolean;
  expires_in_seconds: number | null;
  when: { argument: string; above: number } | { argument: string; not_in: Value[] } | null;
}

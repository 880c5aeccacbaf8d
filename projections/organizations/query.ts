import type { Db } from "../projection.ts";

/** Whether the organization allows its own scripted tools to run. */
export async function hasScriptedTools(db: Db, organization: string): Promise<boolean> {
  const [row] = await db.query<{ scripted_tools: boolean }>(
    "select scripted_tools from read.organizations where id = $1",
    [organization],
  );
  return row?.scripted_tools ?? true;
}

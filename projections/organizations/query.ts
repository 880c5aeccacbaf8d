import { decodeOrNull, type Db } from "../projection.ts";

/** Whether the organization allows its own scripted tools to run. */
export async function hasScriptedTools(db: Db, organization: string): Promise<boolean> {
  const [row] = await db.query<{ scripted_tools: boolean }>(
    "select scripted_tools from read.organizations where id = $1",
    [organization],
  );
  return row?.scripted_tools ?? true;
}

/** The languages that the organization has chosen for text recognition; null: those of the deployment. */
export async function findOcrLanguages(db: Db, organization: string): Promise<string[] | null> {
  const [row] = await db.query<{ ocr_languages: string | null }>(
    "select ocr_languages from read.organizations where id = $1",
    [organization],
  );
  return decodeOrNull(row?.ocr_languages ?? null);
}

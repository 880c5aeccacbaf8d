import type { Db } from "#projections/projection.ts";

/** Every table in which the text stands, also as base64 or hex. */
export async function tablesWith(db: Db, text: string): Promise<string[]> {
  const tables = await db.query<{ name: string }>(
    "select table_schema || '.' || table_name as name from information_schema.tables where table_schema in ('log', 'read', 'ops') and table_type = 'BASE TABLE'",
    [],
  );
  const forms = [text, Buffer.from(text).toString("base64").replace(/=+$/, ""), Buffer.from(text).toString("hex")];
  const found = tables.map(async ({ name }) => {
    const rows = await db.query(`select 1 from ${name} t where t::text like any ($1) limit 1`, [
      forms.map((form) => `%${form}%`),
    ]);
    return rows.length > 0 ? [name] : [];
  });
  return (await Promise.all(found)).flat();
}

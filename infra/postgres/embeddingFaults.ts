import type { EmbeddingFaults } from "#http/base/ports.ts";
import type { Db } from "#projections/projection.ts";

/** Why vectors cannot be made. Saved by the process that makes them, and shown by every http process. */
export const openEmbeddingFaults = (db: Db) => {
  const reading: EmbeddingFaults = {
    async find(organization) {
      const [fault] = await db.query<{ message: string; since: Date }>(
        "select message, since from ops.embedding_faults where organization_id = $1",
        [organization],
      );
      return fault;
    },
  };
  return {
    ...reading,
    /** Null removes the fault. */
    async save(organization: string, message: string | null): Promise<void> {
      if (message === null)
        await db.query("delete from ops.embedding_faults where organization_id = $1", [organization]);
      else
        await db.query(
          `insert into ops.embedding_faults (organization_id, message) values ($1, $2)
           on conflict (organization_id) do update set message = excluded.message`,
          [organization, message],
        );
    },
  };
};

import { streamName } from "#events/ids.ts";
import type { Usage } from "#events/thread.ts";
import type { TurnHistory } from "#http/base/ports.ts";
import type { Db } from "#projections/projection.ts";

export const openTurnHistory = (db: Db): TurnHistory => ({
  async threadStream(organization, turn_id) {
    // the log stores the data key of a turn with its stream until the turn is deleted
    const [row] = await db.query<{ stream: string }>(
      `select k.stream from log.keys k join log.streams s on s.stream = k.stream
       where k.thing = $1 and s.organization_id = $2`,
      [streamName("turn", turn_id), organization],
    );
    return row?.stream;
  },
  async isDeleted(thread_id, turn_id) {
    const rows = await db.query(
      `select from log.events where stream = $1 and
         (type = 'ThreadDeleted' or type = 'TurnDeleted' and data::json->>'turn_id' = $2)`,
      [streamName("thread", thread_id), turn_id],
    );
    return rows.length > 0;
  },
  async roundUsage(thread_id, turn_id) {
    const rows = await db.query<{ data: string }>(
      `select data::text as data from log.events
       where stream = $1 and type in ('RoundRequested', 'TargetFailed') and data::json->>'turn_id' = $2
       order by type = 'RoundRequested', version`,
      [streamName("thread", thread_id), turn_id],
    );
    return rows.flatMap(({ data }) => {
      const { usage, model, target } = JSON.parse(data) as { usage?: Usage; model?: string; target?: string };
      const name = model ?? target;
      return usage ? [{ usage, ...(name !== undefined && { model: name }) }] : [];
    });
  },
});

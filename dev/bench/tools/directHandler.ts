import { openKeyring } from "../../../infra/keyring.ts";
import { loadMasterKey } from "../../../infra/masterKey.ts";
import { openLog } from "../../../infra/postgres/log.ts";
import { asDb, openPool } from "../../../infra/postgres/pool.ts";
import { createHandler } from "../../../services/handle.ts";

/** Handles commands in the bench's process, on the log of a service: thousands of them take seconds instead of minutes. */
export const openDirectHandler = async (dataDir: string, database_url: string) => {
  const pool = openPool(database_url, { max: 12, name: "bench" });
  const { key } = await loadMasterKey({ DATA_DIR: dataDir }, asDb(pool));
  const log = openLog(pool, openKeyring(Buffer.from(key, "base64")));
  const handle = createHandler({
    log,
    hints: { announceCommitted() {} },
    worker: () => undefined,
    afterCommit() {},
  });
  return { pool, log, handle, close: () => pool.end() };
};

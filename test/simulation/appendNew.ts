type Value = string | number | null;

/** The values of an array in PostgreSQL's binary format; bytes become base64. */
function readArray(array: Buffer): Value[] {
  const BYTEA = 17;
  const INTEGER = 23;
  const type = array.readInt32BE(8);
  const values: Value[] = [];
  for (let at = 20; at < array.length; ) {
    const length = array.readInt32BE(at);
    const bytes = array.subarray(at + 4, at + 4 + length);
    at += 4 + Math.max(0, length);
    if (length < 0) values.push(null);
    else values.push(type === INTEGER ? bytes.readInt32BE() : bytes.toString(type === BYTEA ? "base64" : "utf8"));
  }
  return values;
}

/** Rows from one array per column. */
const rowsOf = (columns: Record<string, Value[]>): Record<string, Value>[] =>
  Object.values(columns)[0]!.map((_, n) =>
    Object.fromEntries(Object.entries(columns).map(([name, values]) => [name, values[n]!])),
  );

/** The parameters of log.append for those of log.append_new and log.append_new_erasing. */
export function asAppend(values: Buffer[]): string[] {
  const columns = values.map(readArray);
  const [ids, organizations, metas, fingerprints, https, rejections, , commands] = columns;
  const [streams, versions, types, shapes, datas, seals, things] = columns.slice(8);
  const [headEvents, , states, stateVersions, statuses, dues, workers] = columns.slice(15);
  const [keyThings, keyStreams, keyWrappeds, erasedThings = [], erasedStreams = []] = columns.slice(22);
  const command = commands!.map((n) => Number(n) - 1);
  const eventOf = headEvents!.map((n) => Number(n) - 1);
  const creators = keyStreams!.map((stream) => command[streams!.indexOf(stream)]!);
  return [
    rowsOf({
      n: ids!.map((_, n) => n),
      command_id: ids!,
      organization_id: organizations!,
      meta: metas!,
      fingerprint: fingerprints!,
      http: https!,
      rejection: rejections!,
    }),
    rowsOf({
      command,
      stream: streams!,
      version: versions!,
      type: types!,
      shape: shapes!,
      data: datas!,
      sealed: seals!,
      thing: things!,
    }),
    rowsOf({
      command: eventOf.map((n) => command[n]!),
      stream: eventOf.map((n) => streams![n]!),
      state: states!,
      state_version: stateVersions!,
      status: statuses!,
      due_at: dues!,
      worker: workers!,
    }),
    rowsOf({ command: creators, thing: keyThings!, stream: keyStreams!, wrapped: keyWrappeds! }),
    [
      ...erasedThings.map((thing) => ({ command: 0, thing })),
      ...erasedStreams.map((stream) => ({ command: 0, stream })),
    ],
    [],
  ].map((rows) => JSON.stringify(rows));
}

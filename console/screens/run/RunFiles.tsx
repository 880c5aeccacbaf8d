import { useQuery } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import { fileAddress, listRunFiles, type RunFile } from "../../api/run.ts";
import { formatBytes } from "../../format/index.ts";
import { ErrorNotice } from "../../parts/Notices.tsx";
import { Table, type Columns } from "../../parts/Table.tsx";
import { Time } from "../../parts/Time.tsx";

const origin = ({ given, approval_id }: RunFile) => {
  if (approval_id === null) return given ? "who started the run" : "a step";
  return (
    <Link to="/inbox/$approvalId" params={{ approvalId: approval_id }}>
      an approval
    </Link>
  );
};

const columnsFor = (run: string): Columns<RunFile> => [
  {
    title: "Name",
    cell: ({ id, name }) => (
      <a href={fileAddress(run, id)} download={name}>
        {name}
      </a>
    ),
  },
  { title: "Size", cell: ({ bytes }) => formatBytes(bytes) },
  { title: "From", cell: origin },
  { title: "Created", cell: ({ created_at }) => <Time at={created_at} /> },
];

/** The files that the run received and that its steps saved. Empty if there are none. */
export function RunFiles({ run }: { run: string }) {
  const { data, error, refetch } = useQuery(listRunFiles(run));
  if (error && !data) return <ErrorNotice error={error} onRetry={() => void refetch()} />;
  if (!data || data.data.length === 0) return null;
  return (
    <section className="stack" aria-labelledby="files">
      <h2 id="files">Files</h2>
      <Table caption="Files of the run" columns={columnsFor(run)} rows={data.data} rowKey={({ id }) => id} />
    </section>
  );
}

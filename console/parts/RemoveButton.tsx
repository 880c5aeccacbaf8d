import type { Action } from "./action.ts";
import { ActionButton } from "./ActionButton.tsx";
import type { Columns } from "./Table.tsx";

interface Props {
  id: string;
  label: string;
  /** For screen readers, because every row has the same label. */
  about: string;
  isSmall?: boolean;
  question: string;
  removal: Action<string>;
}

/** The list shows the error, because a row of its table has no room for it. */
export const RemoveButton = ({ id, removal, ...rest }: Props) => (
  <ActionButton {...rest} isDangerous action={{ ...removal, mutate: () => removal.mutate(id) }} />
);

type Removal = Pick<Props, "id" | "question"> & Partial<Pick<Props, "about" | "label">>;

/** The column of a list whose rows can be removed. Without an `about`, the id names the row. */
export const removalColumn = <Row,>(
  removal: Action<string>,
  describe: (row: Row) => Removal,
): Columns<Row>[number] => ({
  title: "Actions",
  cell: (row) => {
    const { id, about = id, label = "Remove", question } = describe(row);
    return <RemoveButton id={id} about={about} label={label} question={question} removal={removal} />;
  },
});

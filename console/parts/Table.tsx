import type { ReactNode } from "react";
import { ROWS_PER_CHUNK, VirtualRows, splitIntoChunks } from "./VirtualRows.tsx";
import "./table.css";

interface Column<T> {
  title: string;
  /** Aligned to the right, with digits of equal width. */
  number?: boolean;
  className?: string;
  cell(row: T): ReactNode;
}
export type Columns<T> = readonly Column<T>[];

const classOf = <T,>({ number }: Column<T>, className?: string): string | undefined =>
  [number && "number", className].filter(Boolean).join(" ") || undefined;

/** Height of a one-line row, in pixels. */
const ROW_HEIGHT = 44;

const Row = <T,>({ columns, row }: { columns: Columns<T>; row: T }) => (
  <tr>
    {columns.map((column) => (
      <td key={column.title} className={classOf(column, column.className)} data-title={column.title}>
        {column.cell(row)}
      </td>
    ))}
  </tr>
);

interface RowsProps<T> {
  columns: Columns<T>;
  rows: readonly T[];
  rowKey(row: T): string;
}

/** Rows without a table around them: a chunk of a long table. */
export const Rows = <T,>({ columns, rows, rowKey }: RowsProps<T>) =>
  rows.map((row) => <Row key={rowKey(row)} columns={columns} row={row} />);

interface FrameProps<T> {
  /** Identifies the rows and their order. */
  caption: string;
  columns: Columns<T>;
  /** Groups of rows. */
  children: ReactNode;
}

/** A table with titles of columns. */
const Frame = <T,>({ caption, columns, children }: FrameProps<T>) => (
  <div className="card table">
    <table>
      <caption className="hidden-text">{caption}</caption>
      <thead>
        <tr>
          {columns.map((column) => (
            <th key={column.title} scope="col" className={classOf(column)}>
              {column.title}
            </th>
          ))}
        </tr>
      </thead>
      {children}
    </table>
  </div>
);

/** A table with titled columns and any number of rows. */
export const Table = <T,>({ caption, columns, rows, rowKey }: Omit<FrameProps<T>, "children"> & RowsProps<T>) => (
  <Frame caption={caption} columns={columns}>
    {splitIntoChunks(rows).map((chunk, n) => (
      <VirtualRows
        key={n * ROWS_PER_CHUNK}
        as="tbody"
        n={n}
        height={chunk.length * ROW_HEIGHT}
        rows={() => <Rows columns={columns} rows={chunk} rowKey={rowKey} />}
      />
    ))}
  </Frame>
);

interface PagedProps<T> extends Omit<FrameProps<T>, "children"> {
  total: number;
  /** The rows of the page that starts at an offset, at most `ROWS_PER_CHUNK`. */
  page(offset: number): ReactNode;
}

/** A table whose pages are read while the window is near them. */
export const PagedTable = <T,>({ caption, columns, total, page }: PagedProps<T>) => (
  <Frame caption={caption} columns={columns}>
    {Array.from({ length: Math.ceil(total / ROWS_PER_CHUNK) }, (_, n) => (
      <VirtualRows
        key={n * ROWS_PER_CHUNK}
        as="tbody"
        n={n}
        height={Math.min(ROWS_PER_CHUNK, total - n * ROWS_PER_CHUNK) * ROW_HEIGHT}
        rows={() => page(n * ROWS_PER_CHUNK)}
      />
    ))}
  </Frame>
);

import type { ReactNode } from "react";
import "./table.css";

interface Column<T> {
  title: string;
  /** Left out on a phone. */
  wide?: boolean;
  /** Aligned to the right, in digits of one width. */
  number?: boolean;
  className?: string;
  cell(row: T): ReactNode;
}
export type Columns<T> = readonly Column<T>[];

const classOf = <T,>({ wide, number }: Column<T>, className?: string): string | undefined =>
  [wide && "wide", number && "number", className].filter(Boolean).join(" ") || undefined;

interface Props<T> {
  /** What the rows are, and their order. */
  caption: string;
  columns: Columns<T>;
  rows: readonly T[];
  rowKey(row: T): string;
}

/** Rows of things that are alike. Titles of columns name them. */
export const Table = <T,>({ caption, columns, rows, rowKey }: Props<T>) => (
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
      <tbody>
        {rows.map((row) => (
          <tr key={rowKey(row)}>
            {columns.map((column) => (
              <td key={column.title} className={classOf(column, column.className)}>
                {column.cell(row)}
              </td>
            ))}
          </tr>
        ))}
      </tbody>
    </table>
  </div>
);

import { useQuery } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import { listPrices, PAGES, removePrices, type ModelPrices, type Price } from "../../api/spending.ts";
import { formatPrice } from "../../format/index.ts";
import type { Action } from "../../parts/action.ts";
import { InputFilter } from "../../parts/Filter.tsx";
import { EmptyState, ErrorNotice, QueryResult } from "../../parts/Notices.tsx";
import { RemoveButton } from "../../parts/RemoveButton.tsx";
import { Table, type Columns } from "../../parts/Table.tsx";
import { Time } from "../../parts/Time.tsx";
import { useFilterNavigate } from "../../parts/useFilterNavigate.ts";
import { useChange } from "../../parts/useChange.ts";
import { PriceForm } from "./PriceForm.tsx";

/** One price of a model. A model may have several prices with different dates. */
interface Row {
  of: ModelPrices;
  price: Price;
}

const dollars = (amount: string | null) => amount !== null && formatPrice(amount);
/** A rare price, below the price that it replaces. */
const Special = ({ name, amount }: { name: string; amount: string | null }) =>
  amount !== null && (
    <span className="quiet block">
      {" "}
      {name} {formatPrice(amount)}
    </span>
  );

const COLUMNS: Columns<Row> = [
  {
    title: "Model",
    cell: ({ of, price }) => (
      <>
        <Link to="/spending" search={{ section: "prices", edit: of.model }} data-row>
          {of.model}
        </Link>
        {price.valid_from && (
          <span className="quiet block">
            {" "}
            from <Time at={price.valid_from} />
          </span>
        )}
      </>
    ),
  },
  { title: "In", number: true, cell: ({ price }) => dollars(price.input) },
  {
    title: "Cached",
    number: true,
    cell: ({ price }) => (
      <>
        {dollars(price.cached_input)}
        <Special name="to store" amount={price.cache_write} />
      </>
    ),
  },
  {
    title: "Out",
    number: true,
    cell: ({ price }) => (
      <>
        {dollars(price.output)}
        <Special name="reasoning" amount={price.reasoning} />
      </>
    ),
  },
  { title: "A page", number: true, cell: ({ price }) => dollars(price.per_page) },
  { title: "A call", number: true, cell: ({ price }) => dollars(price.per_call) },
  {
    title: "Set by",
    cell: ({ of }) =>
      of.set_by === "organization" ? (
        "the organization"
      ) : (
        <span className="quiet">
          {of.source}, known on {of.as_of}
        </span>
      ),
  },
];

/** Only the organization's own prices can be removed. */
const removable = (removal: Action<string>): Columns<Row> => [
  ...COLUMNS,
  {
    title: "Actions",
    cell: ({ of }) =>
      of.set_by === "organization" && (
        <RemoveButton
          id={of.model}
          label="Remove"
          about={of.model}
          question={`Remove your prices of ${of.model}? Requests from now on have the published price, or no cost.`}
          removal={removal}
        />
      ),
  },
];

/** A published price stays in the list until the first of the organization's own begins. */
const rowsOf = (prices: readonly ModelPrices[], q: string): Row[] =>
  prices
    .filter(({ model }) => model.toLowerCase().includes(q.toLowerCase()))
    .flatMap((own) => (own.published ? [own.published, own] : [own]))
    .flatMap((of) => of.prices.map((price) => ({ of, price })));

/** Prices of models, in US dollars per million tokens. */
export function Prices({ edit, q }: { edit: string | undefined; q: string | undefined }) {
  const navigate = useFilterNavigate();
  const prices = useQuery(listPrices);
  const removal = useChange("price", removePrices);
  return (
    <>
      <search className="filters">
        <InputFilter
          label="Name of the model"
          type="search"
          isFirst
          value={q}
          onChange={(text) =>
            void navigate({ to: "/spending", replace: true, search: { section: "prices", edit, q: text } })
          }
        />
      </search>
      <QueryResult query={prices} what="prices">
        {({ data }) => {
          const rows = rowsOf(data, q ?? "");
          return (
            <>
              <p className="quiet">
                US dollars per million tokens. A new price changes no earlier request; a model without a price has no
                cost.{" "}
                <Link to="/spending" search={{ section: "prices", edit: PAGES }}>
                  A page that is read
                </Link>{" "}
                has a price of its own.
              </p>
              {removal.isError && <ErrorNotice error={removal.error} />}
              {rows.length === 0 ? (
                <EmptyState title="No model with a price has this name">
                  <p>Set its price below, as its provider bills it.</p>
                </EmptyState>
              ) : (
                <Table
                  caption="Prices of models"
                  columns={rows.some(({ of }) => of.set_by === "organization") ? removable(removal) : COLUMNS}
                  rows={rows}
                  rowKey={({ of, price }) => `${of.model} ${price.valid_from}`}
                />
              )}
              <PriceForm model={edit} />
            </>
          );
        }}
      </QueryResult>
    </>
  );
}

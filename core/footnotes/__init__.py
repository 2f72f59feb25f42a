"""Settling: a draft and the evidence of its turn -> prose with proven footnotes, checked quotations and nothing raw.

`Settler` does it while the draft streams in; `settle` does it at once, by the same code. A stream passes four stages,
each of which holds back only what it cannot decide yet:

1. `reasoning`: thinking that some models send as text is taken out.
2. `scanning`: everything tag-shaped becomes a proven note or is dropped (at most 64 characters held back); code is told
   apart from prose; book text that was defused for the prompt is put right again.
3. `quoting`: a quotation waits until it closes (at most 400 characters) and keeps its marks only when it is verbatim;
   a block-quote line waits for its end (at most 700) and stays letter for letter when it is the book's own (`excerpts`).
4. `sweeping` and `lining`: what the drops left behind (`()`, `, ,`, double spaces, empty items) is swept up; repeats collapse.
"""

from core.footnotes.settling import Settled, Settler, settle

__all__ = ["Settled", "Settler", "settle"]

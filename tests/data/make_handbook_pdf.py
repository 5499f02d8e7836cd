"""Makes handbook.pdf, three pages of text, with fpdf2: ``python tests/data/make_handbook_pdf.py``.

The result is committed; run this again only to change it. The date is fixed so that the same text
gives the same file.
"""

import datetime
import sys

PAGES = (
    (
        "Tidewater Instruments: field manual",
        "A tide gauge is visited twice a year, in April and in October. "
        "Two people go, and one of them holds a boat licence.",
        "Before the visit, tell the harbour master and read the last 30 days of the gauge.",
    ),
    (
        "Cleaning and calibration",
        "The stilling well is flushed with fresh water for ten minutes. "
        "Never use a wire brush: it scratches the float.",
        "Calibrate against the staff gauge at high and at low water. "
        "A difference of more than 8 millimetres is written down and repeated.",
    ),
    (
        "After the visit",
        "Upload the sheet on the same day. The readings of the visit are flagged, not deleted.",
        "Batteries are changed every third year, or below 11.9 volts.",
    ),
)


def main() -> int:
    from fpdf import FPDF

    pdf = FPDF(format="A5")
    pdf.set_creation_date(datetime.datetime(2026, 3, 3, tzinfo=datetime.UTC))
    pdf.set_title("Field manual")
    for heading, *paragraphs in PAGES:
        pdf.add_page()
        pdf.set_font("Helvetica", style="B", size=14)
        pdf.multi_cell(w=0, h=8, text=heading, new_x="LMARGIN", new_y="NEXT")
        pdf.set_font("Helvetica", size=11)
        for paragraph in paragraphs:
            pdf.ln(4)
            pdf.multi_cell(w=0, h=6, text=paragraph, new_x="LMARGIN", new_y="NEXT", align="L")
    pdf.output(__file__.replace("make_handbook_pdf.py", "handbook.pdf"))
    return 0


if __name__ == "__main__":
    sys.exit(main())

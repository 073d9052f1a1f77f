import pytest

from pagedesk.ui.arrangement import Arrangement, SidebarForm, arrange

FULL, RAIL, NONE = SidebarForm.FULL, SidebarForm.RAIL, SidebarForm.NONE


@pytest.mark.parametrize(
    ("width", "num_panes", "expected"),
    [
        (1600, 2, Arrangement(FULL, True, 2)),
        (1051, 2, Arrangement(FULL, True, 2)),
        (1050, 2, Arrangement(RAIL, True, 2)),
        (922, 2, Arrangement(RAIL, True, 2)),
        (921, 2, Arrangement(RAIL, False, 2)),
        (720, 2, Arrangement(RAIL, False, 2)),
        (720, 4, Arrangement(RAIL, False, 2)),
        (1600, 6, Arrangement(RAIL, False, 5)),
        (400, 3, Arrangement(RAIL, False, 1)),
        (200, 3, Arrangement(RAIL, False, 1)),
    ],
)
def test_the_list_the_gauge_and_then_panes_give_way(width, num_panes, expected):
    assert arrange(width, num_panes, wants_sidebar=True, wants_gauge=True) == expected


def test_what_is_not_wanted_takes_no_room():
    assert arrange(905, 3, wants_sidebar=False, wants_gauge=False) == Arrangement(NONE, False, 3)


def test_panes_have_their_least_width_at_every_width():
    for width in range(352, 3000):
        for num_panes in range(1, 9):
            places = arrange(width, num_panes, wants_sidebar=True, wants_gauge=True)
            sidebar = {FULL: 181, RAIL: 52, NONE: 0}[places.sidebar]
            panes = places.num_panes * 301 - 1
            assert sidebar + 268 * places.has_gauge + panes <= width

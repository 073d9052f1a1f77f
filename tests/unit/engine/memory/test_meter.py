"""The meter: ours from the plan, the rest from the device, asked at most once a second."""

from pagedesk.engine.memory.device_memory import DeviceMemory
from pagedesk.engine.memory.meter import MemoryMeter
from pagedesk.engine.memory.plan import MemoryPlan

PLAN = MemoryPlan(
    budget_bytes=90, weights_bytes=50, workspace_bytes=10, pool_bytes=30, headroom_bytes=5, block_bytes=3, num_blocks=10
)


class Device:
    """A device that other programs use, and a clock beside it."""

    def __init__(self) -> None:
        self.free_bytes = 200
        self.now_s = 0.0
        self.is_broken = False

    def meter(self) -> MemoryMeter:
        return MemoryMeter(PLAN, self.probe, lambda: self.now_s)

    def probe(self) -> DeviceMemory:
        if self.is_broken:
            raise RuntimeError("the driver was updated under us")
        return DeviceMemory("card", 400, self.free_bytes, is_host=False)


def test_what_is_neither_free_nor_ours_is_used_by_others():
    use = Device().meter().read()

    assert (use.total_bytes, use.others_bytes, use.on_card) == (400, 400 - 200 - 90, True)
    assert (use.weights_bytes, use.workspace_bytes, use.pool_bytes) == (50, 10, 30)


def test_a_game_that_starts_is_seen_after_a_second():
    device = Device()
    meter = device.meter()
    device.free_bytes = 50

    device.now_s = 0.9
    assert meter.read().others_bytes == 110
    device.now_s = 1.0
    assert meter.read().others_bytes == 260


def test_a_device_that_does_not_answer_leaves_the_last_reading(caplog):
    device = Device()
    meter = device.meter()
    before = meter.read()
    device.is_broken = True
    device.now_s = 5.0
    assert meter.read() == before
    device.now_s = 9.0
    assert meter.read() == before
    assert [record.levelname for record in caplog.records] == ["WARNING"]


def test_a_device_that_answers_again_is_heard(caplog):
    device = Device()
    meter = device.meter()
    device.is_broken = True
    device.now_s = 5.0
    meter.read()
    device.is_broken = False
    device.free_bytes = 50
    device.now_s = 9.0
    assert meter.read().others_bytes == 260
    assert len(caplog.records) == 1


def test_others_never_use_less_than_nothing():
    device = Device()
    device.free_bytes = 399

    assert device.meter().read().others_bytes == 0

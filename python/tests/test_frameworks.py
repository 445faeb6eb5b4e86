"""PyTorch, JAX and Lightning, where they are installed."""

import numpy as np
import pytest

import dubio

FEW = {"resamples": 20}


def test_jax_arrays_are_read(example):
    jax = pytest.importorskip("jax")
    probs, labels = example
    given = jax.numpy.asarray(probs.astype(np.float32))
    expected = dubio.evaluate(probs.astype(np.float32), labels, **FEW)
    assert dubio.evaluate(given, jax.numpy.asarray(labels), **FEW).to_dict() == expected.to_dict()


def test_tensors_with_gradients_and_bfloat16_are_read(example):
    torch = pytest.importorskip("torch")
    probs, labels = example
    expected = dubio.evaluate(probs, labels, **FEW)
    tensor = torch.tensor(probs, requires_grad=True)
    assert dubio.evaluate(tensor, torch.tensor(labels), **FEW).to_dict() == expected.to_dict()
    half = torch.tensor(probs).log().to(torch.bfloat16)
    wide = dubio.evaluate(logits=half.double().numpy(), labels=labels, **FEW)
    assert dubio.evaluate(logits=half, labels=labels, **FEW).to_dict() == wide.to_dict()


def test_dropout_is_at_work_and_modes_are_left_as_they_were():
    torch = pytest.importorskip("torch")
    predict = dubio.torch.predict

    model = torch.nn.Sequential(torch.nn.Linear(3, 50), torch.nn.BatchNorm1d(50), torch.nn.Dropout(0.5), torch.nn.Linear(50, 2))
    model.eval()
    model[2].train()
    loader = torch.utils.data.DataLoader(torch.utils.data.TensorDataset(torch.randn(20, 3), torch.arange(20) % 2), batch_size=8)
    logits, labels = predict(model, loader, samples=5)
    assert logits.shape == (5, 20, 2) and (labels == np.arange(20) % 2).all()
    assert len({row.tobytes() for row in logits}) == 5, "every pass draws its own dropout"
    assert [module.training for module in model] == [False, False, True, False]
    once, _ = predict([model, model], loader)
    assert (once[0] == once[1]).all(), "without samples nothing is dropped"
    with pytest.raises(dubio.PredictionError, match="no dropout layer"):
        predict(torch.nn.Linear(3, 2), loader, samples=2)


def test_a_callback_logs_scores_of_validation():
    torch = pytest.importorskip("torch")
    lightning = pytest.importorskip("lightning.pytorch")
    from dubio.lightning import UncertaintyCallback

    class Model(lightning.LightningModule):
        def __init__(self):
            super().__init__()
            self.layer = torch.nn.Linear(3, 2)

        def validation_step(self, batch, index):
            return {"logits": self.layer(batch[0]), "labels": batch[1]}

    data = torch.utils.data.TensorDataset(torch.randn(40, 3), torch.arange(40) % 2)
    callback = UncertaintyCallback(resamples=20)
    how = {"logger": False, "enable_progress_bar": False, "enable_checkpointing": False, "accelerator": "cpu"}
    trainer = lightning.Trainer(callbacks=[callback], enable_model_summary=False, **how)
    model = Model()
    [logged] = trainer.validate(model, torch.utils.data.DataLoader(data, batch_size=16), verbose=False)
    with torch.no_grad():
        expected = dubio.evaluate(logits=model.layer(data.tensors[0]), labels=data.tensors[1], **FEW)
    assert callback.card["nll"].n == 40
    assert abs(logged["val_nll"] - expected["nll"].value) < 1e-6
